/** Of the stack's output that holds the URL of a stage's API. The command line finds the API by it: a stack has any name. */
export const apiDescription = (stage: string): string => `Belfry: the HTTP API of stage ${stage}; requests are signed`;
