import { useRef } from "preact/hooks";
import { loadSummary } from "../client.ts";
import { slowChanges } from "../live.ts";
import { type Resource, useResource } from "../resource.ts";
import type { SummaryReply } from "../../api/shape/overview.ts";

type Slow = Pick<SummaryReply, "minutes" | "schedules">;

/** A summary with all its members. */
export interface Standing extends Omit<SummaryReply, keyof Slow> {
  readonly minutes: NonNullable<SummaryReply["minutes"]>;
  readonly schedules: NonNullable<SummaryReply["schedules"]>;
  /** How many minutes it covers. */
  readonly span: number;
}

/** One request a refresh: what costs more comes along when the slow changes ask for it, and is kept in between. */
export function useStanding(): Resource<Standing> & { readonly onSpan: (span: number) => void } {
  const own = useRef<{ span: number; asked: string | null; slow: Slow }>({
    span: 60,
    asked: null,
    slow: { minutes: null, schedules: null },
  }).current;
  const standing = useResource("standing", async (signal): Promise<Standing> => {
    const { span } = own;
    const asked = `${span} ${slowChanges.value}`;
    const isKept = asked === own.asked;
    const found = await loadSummary(isKept ? null : span, signal);
    if (!isKept) [own.asked, own.slow] = [asked, found];
    return { ...found, span, minutes: own.slow.minutes ?? [], schedules: own.slow.schedules ?? none };
  });
  const onSpan = (span: number): void => {
    own.span = span;
    standing.reload();
  };
  return { ...standing, onSpan };
}

const none = { failing: { total: 0, isMore: false, first: null }, late: { total: 0, isMore: false, first: null } };
