const answerMs = 2_000;

/** A task as ECS names it. */
export interface OwnTask {
  /** What comes after the last `/` of its ARN. */
  readonly id: string;
  /** Name or ARN. */
  readonly cluster: string;
  readonly family: string;
}

/**
 * The task that this process is. Null outside of ECS, and when its agent does not answer:
 * https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-metadata-endpoint-v4-fargate.html
 */
export async function ownTask(environment: Readonly<Record<string, string | undefined>>): Promise<OwnTask | null> {
  const base = environment["ECS_CONTAINER_METADATA_URI_V4"];
  if (!base) return null;
  try {
    const response = await fetch(`${base}/task`, { signal: AbortSignal.timeout(answerMs) });
    const answer = (await response.json()) as { TaskARN?: string; Cluster?: string; Family?: string };
    const { TaskARN: arn, Cluster: cluster, Family: family } = answer;
    if (arn === undefined || cluster === undefined || family === undefined) return null;
    return { id: arn.slice(arn.lastIndexOf("/") + 1), cluster, family };
  } catch {
    return null;
  }
}
