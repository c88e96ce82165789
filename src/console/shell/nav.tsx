import { useLocation } from "preact-iso";
import { addresses, base } from "../address.ts";
import { Icon, type IconName } from "../parts/icon.tsx";

interface Place {
  readonly name: string;
  readonly href: string;
  readonly icon: IconName;
  /** After `g`. */
  readonly key: string;
}

export const places: readonly Place[] = [
  { name: "Overview", href: addresses.overview, icon: "overview", key: "o" },
  { name: "Jobs", href: addresses.jobs, icon: "jobs", key: "j" },
  { name: "Schedules", href: addresses.schedules, icon: "schedules", key: "s" },
  { name: "Upcoming", href: addresses.upcoming, icon: "RUNNING", key: "u" },
  { name: "Kinds", href: addresses.kinds, icon: "kinds", key: "i" },
  { name: "Runs", href: addresses.runs, icon: "runs", key: "r" },
  { name: "Dead letters", href: addresses.deadLetters, icon: "dead-letters", key: "d" },
  { name: "Lanes & workers", href: addresses.lanes, icon: "lanes", key: "l" },
  { name: "Locks", href: addresses.locks, icon: "locks", key: "k" },
];

export function Nav() {
  const { path } = useLocation();
  return (
    <nav class="nav" aria-label="Console">
      <a class="brand" href={addresses.overview}>
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
          </li>
        ))}
      </ul>
    </nav>
  );
}

const isAt = (path: string, href: string): boolean =>
  href === addresses.overview ? path === base || path === href : path === href || path.startsWith(`${href}/`);

const Mark = () => (
  <svg class="mark" width="20" height="20" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <rect width="16" height="16" rx="4" />
    <path d="M4 11.5h8M5 11V7.5a3 3 0 0 1 6 0V11" />
  </svg>
);
