const answerMs = 2_000;

/**
 * The task that this process is: what comes after the last `/` of its ARN. Null outside of ECS, and when its agent does not
 * answer: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-metadata-endpoint-v4-fargate.html
 */
export async function ownTask(environment: Readonly<Record<string, string | undefined>>): Promise<string | null> {
  const base = environment["ECS_CONTAINER_METADATA_URI_V4"];
  if (!base) return null;
  try {
    const response = await fetch(`${base}/task`, { signal: AbortSignal.timeout(answerMs) });
    const { TaskARN: arn } = (await response.json()) as { TaskARN?: string };
    return arn === undefined ? null : arn.slice(arn.lastIndexOf("/") + 1);
  } catch {
    return null;
  }
}
