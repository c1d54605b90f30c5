import type { ProcessMonitor } from "@scheduling/sdk"

export type MatchBy = keyof ProcessMonitor["match"]

/** How processes are found, in words. */
export const matchWords = {
  name: {
    label: "Name of the program",
    hint: "Exactly, as ps shows it.",
    example: "postgres"
  },
  command_contains: {
    label: "Part of the command line",
    hint: "On Linux only, and only if the agent was started with --watch-command and exactly this text.",
    example: "worker.js --queue mail"
  },
  pid_file: {
    label: "File with the process id",
    hint: "On the machine of the worker.",
    example: "/run/nginx.pid"
  }
} as const satisfies Record<MatchBy, object>

/** By what a monitor finds its processes. */
export const matchOf = ({
  match: { command_contains, name, pid_file }
}: Pick<ProcessMonitor, "match">): readonly [MatchBy, string] =>
  name !== undefined
    ? ["name", name]
    : command_contains !== undefined
      ? ["command_contains", command_contains]
      : ["pid_file", pid_file ?? ""]
