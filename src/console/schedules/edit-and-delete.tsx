import { acting, Button, confirm, say } from "../parts/index.ts";
import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";
import { addresses } from "../address.ts";
import { ask } from "../http.ts";
import { words } from "../language/words.ts";
import type { ScheduleOutcomeReply } from "../../api/shape/schedule-outcome.ts";
import { ScheduleForm } from "./schedule-form.tsx";

interface EditAndDeleteProps {
  readonly schedule: ScheduleOutcomeReply;
  readonly onDone: () => void;
}

/** What is possible only with a schedule that no code defines. */
export function EditAndDelete({ schedule, onDone }: EditAndDeleteProps) {
  const { route } = useLocation();
  const [isEditing, setEditing] = useState(false);
  const { id, version } = schedule;
  const remove = async (): Promise<void> => {
    const { removeText: text, remove: action } = words.schedules;
    if (!(await confirm({ title: words.schedules.removeQuestion(id), text, action, danger: true }))) return;
    await acting(words.shared.notChanged(id), async () => {
      await ask("DELETE /schedules/:id", { id }, { version });
      say(words.schedules.removed(id));
      route(addresses.schedules);
    });
  };
  return (
    <>
      {isEditing ? <ScheduleForm schedule={schedule} onClose={() => setEditing(false)} onDone={onDone} /> : null}
      <Button text={words.schedules.remove} look="danger" onClick={() => void remove()} />
      <Button text={words.schedules.edit} onClick={() => setEditing(true)} />
    </>
  );
}
