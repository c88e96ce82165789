/** What images are built from, each pinned by its content; the Dockerfile has the same. */
export const imageSources = {
  /** The digest is of all architectures together: `docker buildx imagetools inspect node:24.21.0-slim`. */
  node: "public.ecr.aws/docker/library/node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6",
  /** AWS appends to the file when it opens a region: a build then stops until its new sum is here. */
  rdsAuthorities: "https://truststore.pki.rds.amazonaws.com/global/global-bundle.pem",
  rdsAuthoritiesSha256: "e5bb2084ccf45087bda1c9bffdea0eb15ee67f0b91646106e466714f9de3c7e3",
} as const;
