/** Debuggers of the processes of a local system. */

/** Whether what is started in this environment opens a debugger by itself: VS Code and WebStorm start a system so. */
export const startsDebugged = (env: Readonly<Record<string, string | undefined>>): boolean =>
  env["VSCODE_INSPECTOR_OPTIONS"] !== undefined || /--inspect|debugConnector/.test(env["NODE_OPTIONS"] ?? "");

/** How long a process may stand at a breakpoint before it is ended, in place of its function's timeout. */
export const debuggedMsMax = 24 * 3_600_000;

/** The ports of `--inspect=FIRST`: each process of a worker or a task has the lowest that no other one has. */
export interface DebugPorts {
  /** @returns the arguments of Node that open it. */
  take(name: string): { readonly args: readonly string[]; release(): void };
}

export function debugPorts(first: number, onTaken: (name: string, port: number) => void): DebugPorts {
  const taken = new Set<number>();
  return {
    take(name) {
      let port = first;
      while (taken.has(port)) port += 1;
      taken.add(port);
      onTaken(name, port);
      // The port is said here: Node's own words about it go to no terminal. Compiled files have maps of their sources.
      const args = [`--inspect=127.0.0.1:${port}`, "--inspect-publish-uid=http", "--enable-source-maps"];
      return { args, release: () => void taken.delete(port) };
    },
  };
}
