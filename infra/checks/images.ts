/** What the CDK writes beside a template: how each image is built. */
export interface ImageAssets {
  readonly dockerImages?: Readonly<Record<string, { readonly source: { readonly platform?: string } }>>;
}

const platform = "linux/arm64";

/**
 * Functions and tasks are compared in the template; of an image that is built, only its asset says for what.
 * @returns the platforms that are not that of the functions and tasks.
 */
export const wrongPlatforms = ({ dockerImages = {} }: ImageAssets): readonly string[] =>
  Object.values(dockerImages)
    .map(({ source }) => source.platform ?? "the builder's own")
    .filter((found) => found !== platform);
