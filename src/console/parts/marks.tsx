import type { ComponentChildren } from "preact";
import { numberText } from "../language/number.ts";
import { Icon, type IconName } from "./icon.tsx";
import { type Look, lookOf, type Phased, phaseLook } from "../jobs/phase.ts";
import type { JobState } from "../jobs/state.ts";
import { addresses } from "../address.ts";

/** Steps back where there is no value. */
export const Nothing = () => <span class="nothing">–</span>;

/** The value, or that there is none. */
export const orNothing = (value: ComponentChildren): ComponentChildren =>
  value === null || value === 0 ? <Nothing /> : value;

/** A zero steps back, so that what is not zero stands out. */
export const zeroOr = (count: number, isMore = false) =>
  count === 0 && !isMore ? <span class="nothing">0</span> : numberText({ count, isMore });

/** As many of the last letters as are always shown: names that begin alike differ there. */
const tailLetters = 10;

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

export interface TagProps {
  readonly icon: IconName;
  readonly tone: "good" | "bad" | "warn" | "dim" | "busy";
  readonly text: string;
}

/** A state of something that is no job: colour, shape and word together. */
export const Tag = ({ icon, tone, text }: TagProps) => (
  <span class={`state tone-${tone}`}>
    <Icon name={icon} size={14} />
    {text}
  </span>
);

/** Colour, shape and word of a state or phase, always together. */
export const LookBadge = ({ of: { state, icon, text } }: { readonly of: Look }) => (
  <span class={`state state-${state.toLowerCase()}`}>
    <Icon name={icon} size={14} />
    {text}
  </span>
);

export const StateBadge = ({ state }: { readonly state: JobState }) => <LookBadge of={lookOf(state)} />;

/** The state of a job; before it starts, what it waits for. */
export const JobBadge = ({ job }: { readonly job: Phased }) => <LookBadge of={phaseLook(job)} />;

/** A word that leads somewhere. */
export const Link = ({ to, text }: { readonly to: string; readonly text: string }) => (
  <a class="link" href={to}>
    {text}
  </a>
);

/** A job by its number, with its kind where that is not said before. */
export const JobLink = ({ id, kind }: { readonly id: string; readonly kind?: string | null }) => (
  <Link to={addresses.job(id)} text={kind == null ? `#${id}` : `${kind} #${id}`} />
);

/** A job or a run that a row is about, by its kind and its number. */
export const NumberedLink = ({ to, kind, id }: { readonly to: string; readonly kind: string; readonly id: string }) => (
  <a class="row-link" href={to} title={`${kind} ${id}`}>
    <span class="row-kind">{kind}</span> <span class="dim">{`#${id}`}</span>
  </a>
);

/** An error by its code, and its message. */
export const ErrorText = ({ code, message }: Readonly<{ code: string; message?: string | null | undefined }>) => (
  <>
    <span class="mono error-code">{code}</span> {message}
  </>
);

/** What a row is about: its name leads to it. */
export const RowLink = ({ to, text }: { readonly to: string; readonly text: string | null }) => (
  <a class="row-link" href={to} title={text ?? undefined}>
    {text}
  </a>
);
