import { Button } from "./form.tsx";
import { ApiError } from "../http.ts";
import { Icon } from "./icon.tsx";
import { words } from "../language/words.ts";
import type { ComponentChildren, FunctionComponent } from "preact";
import type { Resource } from "../resource.ts";
import { useEffect, useState } from "preact/hooks";

/** What could not be loaded, in the API's own words, and a way to ask again. */
export const Failure = ({ error, onRetry }: { readonly error: Error; readonly onRetry: () => void }) => (
  <div class="failure" role="alert">
    <Icon name="warning" />
    <div>
      <p class="failure-title">{titleOf(error)}</p>
      <p>{error.message}</p>
      {error instanceof ApiError && error.status > 0 ? <p class="dim">{`${error.status} ${error.code}`}</p> : null}
    </div>
    <Button text={words.shared.tryAgain} onClick={onRetry} />
  </div>
);

function titleOf(error: Error): string {
  if (!(error instanceof ApiError)) return words.shared.partFailed;
  if (error.status === 0) return words.shared.noConnection;
  return error.status === 404 ? words.shared.notFound : words.shared.cannotAnswer;
}

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
export const Loading = () => (
  <p class="loading" role="status">
    {words.shared.loading}
  </p>
);

/** Leads to the rows before those that are shown, the newest first; nothing behind the last page. */
export const Older = ({ cursor, onOlder }: { cursor: string | null; readonly onOlder: (cursor: string) => void }) =>
  cursor === null ? null : <Button text={words.shared.older} onClick={() => onOlder(cursor)} />;

/** Code that is loaded when it is first shown. A newer version has other files: the page is loaded again then. */
export function later<P extends object>(load: () => Promise<FunctionComponent<P>>): FunctionComponent<P> {
  let found: FunctionComponent<P> | null = null;
  return function Later(props: P) {
    const [Shown, show] = useState<FunctionComponent<P> | null>(() => found);
    const [error, setError] = useState<Error | null>(null);
    useEffect(() => {
      if (Shown !== null) return;
      load().then((loaded) => {
        found = loaded;
        show(() => loaded);
      }, setError);
    }, []);
    if (error !== null) return <Failure error={new Error(words.shared.newVersion)} onRetry={() => location.reload()} />;
    return Shown === null ? null : <Shown {...props} />;
  };
}
