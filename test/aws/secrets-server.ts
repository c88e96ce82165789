import { onTestFinished, vi } from "vitest";
import { type Call, type Reply, reply, serve } from "../support/replies.ts";

const missing: Reply = { status: 400, body: { __type: "ResourceNotFoundException" } };

/** A service of secrets and parameters, and credentials to sign for it. `answers` are by operation, and may change. */
export async function serveSecrets(
  answers: Record<string, Reply>,
): Promise<{ url: string; calls: Call[]; answers: Record<string, Reply> }> {
  vi.stubEnv("AWS_PROFILE", undefined);
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "example");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { url, calls } = await serve(({ headers }, response) =>
    reply(response, answers[String(headers["x-amz-target"])] ?? missing),
  );
  return { url: `${url}/`, calls, answers };
}

export const secretOf = (SecretString: string): Reply => ({ status: 200, body: { SecretString } });
