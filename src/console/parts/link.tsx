import { addresses } from "../address.ts";

/** A word that leads somewhere. */
export const Link = ({ to, text }: { readonly to: string; readonly text: string }) => (
  <a class="link" href={to}>
    {text}
  </a>
);

interface JobLinkProps {
  readonly id: string;
  readonly kind?: string | null;
}

/** A job by its number, with its kind where that is not said before. */
export const JobLink = ({ id, kind }: JobLinkProps) => (
  <Link to={addresses.job(id)} text={kind == null ? `#${id}` : `${kind} #${id}`} />
);

/** What a row is about: its name leads to it. */
export const RowLink = ({ to, text }: { readonly to: string; readonly text: string | null }) => (
  <a class="row-link" href={to} title={text ?? undefined}>
    {text}
  </a>
);
