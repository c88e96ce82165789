import { Icon, type IconName } from "./icon.tsx";

interface TagProps {
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
