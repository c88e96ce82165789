/** One that lasts until it is resumed. */
export const aPause = { by: "ada", reason: null, until: null };
