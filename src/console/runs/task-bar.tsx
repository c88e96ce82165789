import { isInSet, type MapTask, type TaskSet, taskSets } from "./run-map.ts";
import { words } from "../language/words.ts";
import { numberText } from "../language/number.ts";

interface TaskBarProps {
  readonly tasks: readonly MapTask[];
  readonly shown: number;
  readonly set: TaskSet;
  readonly text: string;
  readonly onSet: (set: TaskSet) => void;
  readonly onText: (text: string) => void;
}

/** Which of the tasks are listed: a chip for each kind of state, and a search by name, number or error. */
export function TaskBar({ tasks, shown, set, text, onSet, onText }: TaskBarProps) {
  const counts = Object.keys(taskSets).map((key) => {
    const name = key as TaskSet;
    return { name, count: tasks.reduce((sum, task) => sum + Number(isInSet(task, name)), 0) };
  });
  return (
    <div class="line task-bar">
      <div class="tabs" role="group" aria-label={words.labels.state}>
        {counts
          .filter(({ name, count }) => count > 0 || name === set || name === "all")
          .map(({ name, count }) => (
            <button key={name} type="button" aria-pressed={name === set} onClick={() => onSet(name)}>
              {words.tasks.sets[name]} <span class="tab-count">{numberText(count)}</span>
            </button>
          ))}
      </div>
      <input
        class="field task-search"
        type="search"
        placeholder={words.tasks.search}
        aria-label={words.tasks.search}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <span class="dim" role="status">
        {words.many.task(shown)}
      </span>
    </div>
  );
}
