import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Failure } from "./failure.tsx";

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
    if (error !== null) return <Failure error={error} onRetry={() => location.reload()} />;
    return Shown === null ? null : <Shown {...props} />;
  };
}
