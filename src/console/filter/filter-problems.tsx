import { words } from "../language/words.ts";
/** What is wrong with a filter. While there is anything, it matches nothing: a mistake must not widen what follows. */
export const FilterProblems = ({ problems }: { readonly problems: readonly string[] }) =>
  problems.length === 0 ? null : (
    <div class="problem" role="alert">
      {problems.map((problem) => (
        <p key={problem}>{problem}</p>
      ))}
      <p class="dim">{words.filter.nothingUntilCorrected}</p>
    </div>
  );
