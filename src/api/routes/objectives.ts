import { z } from "zod";
import { objectiveStand, readObjectives } from "../../insight/objectives.ts";
import { endpoint } from "../endpoint.ts";
import type { ApiOptions } from "../options.ts";
import { nameText } from "../query-fields.ts";

const objectivesQuery = z.strictObject({ schedule: nameText().optional() });
const objectiveList = z
  .object({ objectives: z.array(objectiveStand), isMore: z.boolean() })
  .meta({ id: "ObjectiveList" });
export type ObjectiveListReply = z.infer<typeof objectiveList>;

export const objectivesEndpoint = ({ insight }: ApiOptions) =>
  endpoint("GET /objectives", {
    name: "listObjectives",
    summary: "What schedules promise of their times, and what is left of it",
    description:
      "Of each schedule with an `objective`: how many of its times missed in the period, what is left of those that may, and whether they are used up too fast. Times that no scheduler decided count as missed.",
    example: { query: {} },
    scope: "list",
    query: objectivesQuery,
    replies: { 200: objectiveList },
    async reply({ query: { schedule }, within }) {
      const { objectives, isMore } = await readObjectives(insight, { schedule, isWhole: true });
      return { objectives: objectives.filter(({ kind }) => within.hasKind(kind)), isMore };
    },
  });
