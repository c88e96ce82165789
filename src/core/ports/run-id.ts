/** The id of a run: a 64-bit number as a decimal string. */
export type RunId = string & { readonly brand: "RunId" };
