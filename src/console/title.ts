import { useEffect } from "preact/hooks";

/** The name of the place in the browser's tab and history. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Belfry`;
  }, [title]);
}
