import { Tabs } from "../parts/index.ts";
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

const names: Readonly<Record<TaskSet, string>> = {
  all: words.labels.all,
  bad: words.tasks.bad,
  failed: words.states.FAILED,
  running: words.states.RUNNING,
  waiting: words.lanes.columns.waiting,
  skipped: words.states.SKIPPED,
  succeeded: words.states.SUCCESS,
};

/** Which of the tasks are listed: a chip for each kind of state, and a search by name, number or error. */
export function TaskBar({ tasks, shown, set, text, onSet, onText }: TaskBarProps) {
  const counts = Object.keys(taskSets).map((key) => {
    const value = key as TaskSet;
    return { value, many: tasks.reduce((sum, task) => sum + Number(isInSet(task, value)), 0) };
  });
  return (
    <div class="line task-bar">
      <Tabs
        label={words.labels.state}
        among={counts
          .filter(({ value, many }) => many > 0 || value === set || value === "all")
          .map(({ value, many }) => ({ value, name: names[value], count: numberText(many) }))}
        value={set}
        onChoose={onSet}
      />
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
