import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";
import { addresses } from "../address.ts";
import { ask } from "../http.ts";
import { words } from "../language/words.ts";
import { FormDialog, FormField, Loaded, say, Select, TextField } from "../parts/index.ts";
import { KindAndPayload, payloadIn, type Written } from "../payload/payload-form.tsx";
import { useResource } from "../resource.ts";
import type { ScheduleOutcomeReply } from "../../api/shape/schedule-outcome.ts";
import { myZone } from "../time.ts";
import { TimesPreview } from "./times-preview.tsx";
import { type ScheduleDraft, changedSettings, splitExpression, whenForms } from "./when.ts";

interface ScheduleFormProps {
  /** The one to change; without it a new one is made. */
  readonly schedule?: Pick<
    ScheduleOutcomeReply,
    "id" | "kind" | "version" | "expression" | "timezone" | "overlap" | "misfire"
  >;
  readonly onClose: () => void;
  readonly onDone?: () => void;
}

const unwritten: Written = { payload: undefined };
const names = { ...words.labels, ...words.schedules.form };

/** Makes a schedule that no code defines, or changes one, with its next times as it is written. */
export function ScheduleForm({ schedule, onClose, onDone = () => {} }: ScheduleFormProps) {
  const { route } = useLocation();
  const initial: ScheduleDraft = {
    kind: schedule?.kind ?? "",
    ...splitExpression(schedule?.expression ?? "0 8 * * *"),
    timezone: schedule?.timezone ?? myZone,
    overlap: schedule?.overlap ?? "skip",
    misfire: schedule?.misfire ?? "latest",
  };
  const [id, setId] = useState(schedule?.id ?? "");
  const [draft, setDraft] = useState(initial);
  const [written, setWritten] = useState<Written>(unwritten);
  const before = useResource(`payload-of ${schedule?.id}`, (signal) => payloadOf(schedule?.id, signal), {
    again: "never",
  });
  const set = (part: Partial<ScheduleDraft>): void => setDraft({ ...draft, ...part });
  const choose = (kind: string): void => {
    set({ kind });
    setWritten(unwritten);
  };
  const send = async (): Promise<void> => {
    const payload = payloadIn(written);
    const settings = { ...changedSettings(draft, schedule === undefined ? null : initial), payload };
    await (schedule === undefined
      ? ask("POST /schedules", {}, { body: { id, ...settings } })
      : ask("PATCH /schedules/:id", { id }, { body: settings, version: schedule.version }));
    say(words.schedules.saved(id));
    if (schedule === undefined) route(addresses.schedule(id));
    onDone();
  };
  return (
    <FormDialog
      title={schedule === undefined ? words.schedules.create : names.edit(id)}
      action={names.save}
      onSend={send}
      onClose={onClose}
    >
      <div class="field-pair">
        {schedule === undefined ? <TextField name={names.id} isRequired value={id} onWrite={setId} /> : null}
        <Loaded of={before}>
          {(payload) => <KindAndPayload kind={draft.kind} onKind={choose} {...payload} onChange={setWritten} />}
        </Loaded>
      </div>
      <When draft={draft} onChange={set} />
      <TimesPreview draft={draft} />
      <div class="field-pair">
        <Choice
          name={names.overlap}
          of={words.schedules.overlap}
          value={draft.overlap}
          onChoose={(overlap) => set({ overlap })}
        />
        <Choice
          name={names.misfire}
          of={words.schedules.misfire}
          value={draft.misfire}
          onChoose={(misfire) => set({ misfire })}
        />
      </div>
    </FormDialog>
  );
}

interface WhenProps {
  readonly draft: ScheduleDraft;
  readonly onChange: (part: Partial<ScheduleDraft>) => void;
}

const zones = Intl.supportedValuesOf("timeZone");

const When = ({ draft: { form, text, timezone }, onChange }: WhenProps) => (
  <div class="field-pair">
    <Choice
      name={names.when}
      of={names.forms}
      value={form}
      onChoose={(value) => onChange({ form: whenForms.find((each) => each === value) ?? "cron" })}
    />
    <TextField
      name={names.forms[form]}
      hint={names.hints[form]}
      isRequired
      value={text}
      onWrite={(value) => onChange({ text: value })}
      own={{ class: "field mono", spellcheck: false }}
    />
    {form === "cron" ? (
      <>
        <TextField
          name={names.zone}
          isRequired
          value={timezone}
          onWrite={(value) => onChange({ timezone: value })}
          own={{ list: "zones" }}
        />
        <datalist id="zones">
          {zones.map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
      </>
    ) : null}
  </div>
);

interface ChoiceProps {
  readonly name: string;
  /** Each value with its words. */
  readonly of: Readonly<Record<string, string>>;
  readonly value: string;
  readonly onChoose: (value: string) => void;
}

const Choice = ({ name, of, value, onChoose }: ChoiceProps) => (
  <FormField name={name}>
    <Select of={Object.entries(of)} value={value} onChoose={onChoose} />
  </FormField>
);

/** The one it has; null when its definition computes one for each time. */
async function payloadOf(id: string | undefined, signal: AbortSignal): Promise<{ readonly initial?: unknown }> {
  if (id === undefined) return {};
  const { versions } = await ask("GET /schedules/:id", { id }, { signal });
  return { initial: versions.at(-1)?.spec?.["payload"] ?? null };
}
