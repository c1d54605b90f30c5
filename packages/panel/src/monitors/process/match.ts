import type { ProcessMonitor } from "@scheduling/sdk"

export type MatchBy = keyof ProcessMonitor["match"]

export const matchLabels = {
  name: {
    label: "Program name",
    hint: "The exact name, as ps shows it.",
    example: "postgres"
  },
  command_contains: {
    label: "Part of the command line",
    hint: "This works only on Linux, with an agent that was started with --watch-command and exactly this text.",
    example: "worker.js --queue mail"
  },
  pid_file: {
    label: "PID file",
    hint: "The path of the PID file on the worker's machine.",
    example: "/run/nginx.pid"
  }
} as const satisfies Record<MatchBy, object>

/** Returns how a monitor matches processes, and the text that it looks for. */
export const matchOf = ({
  match: { command_contains, name, pid_file }
}: Pick<ProcessMonitor, "match">): readonly [MatchBy, string] =>
  name !== undefined
    ? ["name", name]
    : command_contains !== undefined
      ? ["command_contains", command_contains]
      : ["pid_file", pid_file ?? ""]
