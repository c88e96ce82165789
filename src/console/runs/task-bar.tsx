import { plural, counted } from "../words.ts";
import { isInSet, type MapTask, type TaskSet, taskSets } from "./run-map.ts";

const setNames: Readonly<Record<TaskSet, string>> = {
  all: "All",
  bad: "Not successful",
  failed: "Failed",
  running: "Running",
  waiting: "Waiting",
  skipped: "Skipped",
  succeeded: "Success",
};

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
    <div class="task-bar">
      <div class="tabs" role="group" aria-label="State">
        {counts
          .filter(({ name, count }) => count > 0 || name === set || name === "all")
          .map(({ name, count }) => (
            <button key={name} type="button" aria-pressed={name === set} onClick={() => onSet(name)}>
              {setNames[name]} <span class="tab-count">{counted(count)}</span>
            </button>
          ))}
      </div>
      <input
        class="field task-search"
        type="search"
        placeholder="Search tasks"
        aria-label="Search tasks"
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <span class="dim" role="status">
        {plural(shown, "task")}
      </span>
    </div>
  );
}
