import { Icon } from "./icon.tsx";
import { acting, say } from "./toast.tsx";
import { words } from "../language/words.ts";

/** A text one wants elsewhere, with a button that takes it there. */
export const Copy = ({ text, label }: { readonly text: string; readonly label: string }) => (
  <span class="line copy">
    <span class="mono one-line copy-text" title={text}>
      {text}
    </span>
    <button type="button" class="icon-button small" onClick={() => void copy(text)}>
      <Icon name="copy" size={13} />
      <span class="hidden">{label}</span>
    </button>
  </span>
);

export const copy = (text: string): Promise<void> =>
  acting(words.shared.notCopied, async () => {
    await navigator.clipboard.writeText(text);
    say(words.shared.copied);
  });
