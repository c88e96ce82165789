import { acting, Button, ClockField, Form, JobLink, localTimeOf } from "../parts/index.ts";
import { useState } from "preact/hooks";
import { ask } from "../http.ts";
import type { ExplainedTimesReply, ScheduleReply } from "../../api/shape/schedule.ts";
import { verdictText } from "../language/spoken.ts";
import { words } from "../language/words.ts";

type ExplainedTime = ExplainedTimesReply["answers"][number];

/** What became of any time, also of one that was never planned and has no row. */
export function WhyTime({ schedule: { id, timezone } }: { readonly schedule: Pick<ScheduleReply, "id" | "timezone"> }) {
  const [time, setTime] = useState("");
  const [answers, setAnswers] = useState<readonly ExplainedTime[]>([]);
  const explain = (): Promise<void> =>
    acting(words.whyTime.unknown, async () => {
      setAnswers((await ask("GET /schedules/:id/explain", { id, time: localTimeOf(time) })).answers);
    });
  return (
    <section aria-label={words.whyTime.title}>
      <Form look="form" onSend={() => void explain()}>
        <ClockField
          name={words.whyTime.label(timezone)}
          value={time}
          onWrite={(value) => {
            setTime(value);
            setAnswers([]);
          }}
        />
        <Button text={words.whyTime.ask} />
      </Form>
      <div class="answers" role="status">
        {answers.map((answer) => (
          <Answer key={answer.sentence} answer={answer} />
        ))}
      </div>
    </section>
  );
}

function Answer({ answer: { verdict, localTime, sentence, advice, job } }: { readonly answer: ExplainedTime }) {
  const said = verdictText(verdict, localTime);
  return (
    <div lang={said === null ? "en" : undefined}>
      <p>
        {said ?? sentence} {job === null ? null : <JobLink id={job.id} />}
      </p>
      {said !== null || advice === null ? null : <p class="dim">{advice}</p>}
    </div>
  );
}
