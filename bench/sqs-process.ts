/** The SQS API in a process of its own, so that its work is not counted as ours. Ends with its parent. */
import { startSqs } from "../src/local/services/sqs.ts";

const server = await startSqs();
process.send?.(server.url);
process.once("disconnect", () => void server.stop().then(() => process.exit(0)));
