import type { IconName } from "../parts/icon.tsx";
import { Tag } from "../parts/tag.tsx";
import type { ShownRun } from "../shape.ts";

const looks: Readonly<
  Record<ShownRun["state"], { icon: IconName; tone: "good" | "bad" | "dim" | "busy" | "warn"; text: string }>
> = {
  RUNNING: { icon: "RUNNING", tone: "busy", text: "Running" },
  CANCELING: { icon: "CANCELED", tone: "warn", text: "Canceling" },
  DONE: { icon: "SUCCESS", tone: "good", text: "Done" },
  FAILED: { icon: "FAILED", tone: "bad", text: "Failed" },
  CANCELED: { icon: "CANCELED", tone: "dim", text: "Canceled" },
};

export const RunStatus = ({ state }: { readonly state: ShownRun["state"] }) => <Tag {...looks[state]} />;
