/** As many of the last letters as are always shown: names that begin alike differ there. */
const tailLetters = 14;

/** A name that is cut in its middle where it does not fit. */
export const MiddleCut = ({ text }: { readonly text: string }) =>
  text.length <= tailLetters * 2 ? (
    <>{text}</>
  ) : (
    <span class="middle-cut" title={text}>
      <span>{text.slice(0, -tailLetters)}</span>
      <span>{text.slice(-tailLetters)}</span>
    </span>
  );
