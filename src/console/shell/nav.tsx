import { useLocation } from "preact-iso";
import { addresses, base } from "../address.ts";
import { numberText } from "../language/number.ts";
import { troubles } from "../overview/standing.ts";
import { reading, timeMode } from "../time.ts";
import { Icon, type IconName } from "../parts/index.ts";
import { words } from "../language/words.ts";

interface Place {
  readonly name: string;
  readonly href: string;
  readonly icon: IconName;
  /** After `g`. */
  readonly key: string;
}

const { places: names } = words;

export const places: readonly Place[] = [
  { name: names.overview, href: addresses.overview, icon: "overview", key: "o" },
  { name: names.jobs, href: addresses.jobs, icon: "jobs", key: "j" },
  { name: names.schedules, href: addresses.schedules, icon: "schedules", key: "s" },
  { name: names.upcoming, href: addresses.upcoming, icon: "upcoming", key: "u" },
  { name: names.kinds, href: addresses.kinds, icon: "kinds", key: "i" },
  { name: names.runs, href: addresses.runs, icon: "runs", key: "r" },
  { name: names.deadLetters, href: addresses.deadLetters, icon: "dead-letters", key: "d" },
  { name: names.lanes, href: addresses.lanes, icon: "lanes", key: "l" },
  { name: names.locks, href: addresses.locks, icon: "locks", key: "k" },
  { name: names.activity, href: addresses.activity, icon: "activity", key: "a" },
];

export function Nav() {
  const { path } = useLocation();
  return (
    <nav class="nav" aria-label={words.shell.console}>
      <a class="line brand" href={addresses.overview}>
        <Mark />
        Belfry
      </a>
      <ul>
        {places.map(({ name, href, icon }) => (
          <li key={href}>
            <a href={href} aria-current={isAt(path, href) ? "page" : undefined}>
              <Icon name={icon} />
              {name}
            </a>
            <Badge of={troubles.value[href]} />
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** How many need attention, and when that was so. */
const Badge = ({ of }: { readonly of: (typeof troubles.value)[string] | undefined }) =>
  of === undefined || of.count === 0 ? null : (
    <span class="badge" title={words.shell.needsAttention(reading(of.at, of.at, { mode: timeMode.value }).text)}>
      {numberText(of)}
    </span>
  );

const isAt = (path: string, href: string): boolean =>
  href === addresses.overview ? path === base || path === href : path === href || path.startsWith(`${href}/`);

const Mark = () => (
  <svg class="mark" width="20" height="20" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <rect width="16" height="16" rx="4" />
    <path d="M4 11.5h8M5 11V7.5a3 3 0 0 1 6 0V11" />
  </svg>
);
