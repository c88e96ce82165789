export interface ArchiveSettings {
  /** `s3://bucket`, `s3://bucket/prefix` or `file:///folder`. */
  readonly url: string;
  readonly region: string;
  /** Of S3; null is the service of the region. */
  readonly endpoint: string | null;
}

const shape = /^(s3:\/\/[a-z\d][a-z\d.-]{1,61}[a-z\d](\/[\w!.*'()-]+)*|file:\/\/\/.+)$/;

/** What is wrong with the address of an archive; null: nothing. */
export const archivePlaceProblem = (url: string): string | null =>
  shape.test(url) ? null : "must be s3://BUCKET, s3://BUCKET/PREFIX or file:///FOLDER";
