/** What marks mean; `look` are classes of the style sheet. */
export const Legend = ({ of }: { readonly of: readonly { readonly look: string; readonly text: string }[] }) => (
  <span class="legend">
    {of.map(({ look, text }) => (
      <span key={look}>
        <i class={look} />
        {text}
      </span>
    ))}
  </span>
);
