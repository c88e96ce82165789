import type { ComponentChildren } from "preact";
import type { Resource } from "../resource.ts";
import { Failure } from "./failure.tsx";
import { words } from "../language/words.ts";

interface LoadedProps<T> {
  readonly of: Resource<T>;
  readonly children: (data: T) => ComponentChildren;
}

/** The data when it is there. A failed refresh is said above what was loaded before. */
export function Loaded<T>({ of: { data, error, reload }, children }: LoadedProps<T>) {
  return (
    <>
      {error === null ? null : <Failure error={error} onRetry={reload} />}
      {data === null ? error === null ? <Loading /> : null : children(data)}
    </>
  );
}

/** Shown only when an answer takes longer than a moment: the style sheet delays it. */
const Loading = () => (
  <p class="loading" role="status">
    {words.shared.loading}
  </p>
);
