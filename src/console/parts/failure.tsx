import { Button } from "./button.tsx";
import { ApiError } from "../http.ts";
import { Icon } from "./icon.tsx";
import { words } from "../language/words.ts";

interface FailureProps {
  readonly error: Error;
  readonly onRetry: () => void;
}

/** What could not be loaded, in the API's own words, and a way to ask again. */
export const Failure = ({ error, onRetry }: FailureProps) => (
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
