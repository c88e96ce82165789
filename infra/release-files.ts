/** Where things lie in the folder that `belfry bundle` fills. */
export const releaseFiles = { topology: "topology.json", functions: "functions", image: "image" } as const;

export const functionNames = ["worker", "dead-letter", "ecs-events", "migrate", "api"] as const;
export type FunctionName = (typeof functionNames)[number];
