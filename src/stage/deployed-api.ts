/** The stage of a system, as the command line finds it: a stack has any name. */
export interface DeployedStage {
  /** One account may have several systems with a stage of this name. */
  readonly system: string;
  readonly stage: string;
}

/** What a system may be called: it is in metrics, and in the paths of parameters. */
export const systemName = /^[A-Za-z][A-Za-z0-9-]{0,127}$/;

/** Of the stack's output that holds the URL of a stage's API. */
export const apiDescription = ({ system, stage }: DeployedStage): string =>
  `Belfry: the HTTP API of stage ${stage} of system ${system}; requests are signed`;

/** Whether an output with this description is the API of that stage, of any system. */
export const isApiOf = (stage: string, description: string): boolean =>
  description.startsWith(`Belfry: the HTTP API of stage ${stage} of system `);
