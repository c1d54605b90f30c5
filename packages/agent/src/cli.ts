import { Call, ConnectionsLimits } from "@scheduling/calls/Call"
import { EgressAllow } from "@scheduling/calls/egress/Egress"
import { maxSlots } from "@scheduling/domain/workers/WorkerProtocol"
import { Clock, Console, DateTime, Deferred, Effect, Layer, Option, Redacted, Result } from "effect"
import { Command, Flag } from "effect/cli"
import { env } from "node:process"
import { Agent } from "./Agent.ts"
import { runAgent } from "./runAgent.ts"
import { AgentEnded } from "./refusals.ts"
import { counted } from "./counted.ts"
import { checkService } from "./check.ts"
import { readSettingsFile, readTokenFile } from "./files.ts"
import { Service } from "./service/Service.ts"
import {
  given,
  type GivenSettings,
  mergeSettings,
  misspelled,
  resolveSettings,
  type Settings,
  settingsIn
} from "./settings.ts"
import { showStatus } from "./status/showStatus.ts"
import { defaultStatusFile, type Status, writeStatus } from "./status/Status.ts"

const flags = {
  url: Flag.String("url").pipe(
    Flag.withDescription(
      "Address of the service, such as https://scheduling.example.com (SCHEDULING_URL)"
    ),
    Flag.optional
  ),
  token: Flag.Redacted("token").pipe(
    Flag.withDescription(
      "Token of the worker. Other users can see it in the process list; prefer --token-file (SCHEDULING_WORKER_TOKEN)"
    ),
    Flag.optional
  ),
  tokenFile: Flag.String("token-file").pipe(
    Flag.withDescription("File with the token of the worker"),
    Flag.optional
  ),
  slots: Flag.Int("slots").pipe(
    Flag.withDescription(
      `How many calls to make at once, 1 to ${maxSlots}; 16 when absent (SCHEDULING_SLOTS)`
    ),
    Flag.optional
  ),
  allow: Flag.String("allow").pipe(
    Flag.withDescription(
      "Private network that calls may go to, such as 10.0.0.0/8; may be repeated. None when absent: only public addresses are called (SCHEDULING_ALLOW)"
    ),
    Flag.atLeast(0)
  ),
  label: Flag.String("label").pipe(
    Flag.withDescription(
      "Take only runs for this label of the worker; may be repeated. All when absent (SCHEDULING_LABELS)"
    ),
    Flag.atLeast(0)
  ),
  watchCommand: Flag.String("watch-command").pipe(
    Flag.withDescription(
      "Text by which process monitors may find command lines, exactly as a monitor names it in command_contains; may be repeated. None when absent (SCHEDULING_WATCH_COMMANDS)"
    ),
    Flag.atLeast(0)
  ),
  host: Flag.String("host").pipe(
    Flag.withDescription("Name of this machine as the service shows it (SCHEDULING_HOST)"),
    Flag.optional
  ),
  drainSeconds: Flag.Int("drain-seconds").pipe(
    Flag.withDescription(
      "How long calls may take to end after SIGTERM; 30 when absent (SCHEDULING_DRAIN_SECONDS)"
    ),
    Flag.optional
  ),
  statusFile: Flag.String("status-file").pipe(
    Flag.withDescription("File that the status command reads (SCHEDULING_STATUS_FILE)"),
    Flag.optional
  ),
  config: Flag.String("config").pipe(
    Flag.withDescription(
      "JSON file with any of: url, token, slots, allow, labels, watch_commands, host, drain_seconds, status_file"
    ),
    Flag.optional
  )
}

interface Flags {
  readonly url: Option.Option<string>
  readonly token: Option.Option<Redacted.Redacted>
  readonly tokenFile: Option.Option<string>
  readonly slots: Option.Option<number>
  readonly allow: ReadonlyArray<string>
  readonly label: ReadonlyArray<string>
  readonly watchCommand: ReadonlyArray<string>
  readonly host: Option.Option<string>
  readonly drainSeconds: Option.Option<number>
  readonly statusFile: Option.Option<string>
  readonly config: Option.Option<string>
}

type SourceFlags = Pick<Flags, "token" | "tokenFile" | "statusFile" | "config">

/** Flags come before the environment, and the environment before the file. */
const sourcesOf = Effect.fnUntraced(function* (typed: SourceFlags, more: GivenSettings = {}) {
  const file = Option.isSome(typed.config) ? yield* readSettingsFile(typed.config.value) : {}
  const token = Option.isSome(typed.tokenFile)
    ? yield* readTokenFile(typed.tokenFile.value)
    : Option.getOrUndefined(Option.map(typed.token, Redacted.value))
  const named = given({ token, status_file: Option.getOrUndefined(typed.statusFile) })
  return [{ ...named, ...more }, settingsIn(env), file]
})

const readSettings = Effect.fnUntraced(function* (typed: Flags) {
  for (const warning of misspelled(env)) yield* Effect.logWarning(warning)
  const sources = yield* sourcesOf(
    typed,
    given({
      url: Option.getOrUndefined(typed.url),
      slots: Option.getOrUndefined(typed.slots),
      allow: typed.allow.length === 0 ? undefined : typed.allow,
      labels: typed.label.length === 0 ? undefined : typed.label,
      watch_commands: typed.watchCommand.length === 0 ? undefined : typed.watchCommand,
      host: Option.getOrUndefined(typed.host),
      drain_seconds: Option.getOrUndefined(typed.drainSeconds)
    })
  )
  const settings = resolveSettings(sources, defaultStatusFile)
  if (Result.isFailure(settings)) {
    return yield* Effect.fail(new AgentEnded(settings.failure.join("\n"), 64))
  }
  return settings.success
})

const withSettings = (settings: Settings) =>
  Layer.mergeAll(Service.layer(settings), Call.layer).pipe(
    Layer.provide(Layer.succeed(EgressAllow, settings.allow)),
    Layer.provide(
      Layer.succeed(ConnectionsLimits, { perOrigin: settings.slots, idle: settings.slots })
    )
  )

const onStopSignal = (stop: Deferred.Deferred<void>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const ask = () => Deferred.doneUnsafe(stop, Effect.void)
      process.on("SIGTERM", ask).on("SIGINT", ask)
      return ask
    }),
    (ask) => Effect.sync(() => process.off("SIGTERM", ask).off("SIGINT", ask))
  )

const reportTo = (statusFile: string) => (status: Omit<Status, "pid" | "at">) =>
  Effect.flatMap(DateTime.now, (now) =>
    writeStatus(statusFile, { ...status, pid: process.pid, at: DateTime.formatIso(now) })
  )

const run = Command.make("run", flags, (typed) =>
  Effect.gen(function* () {
    const settings = yield* readSettings(typed)
    const stop = yield* Deferred.make<void>()
    yield* onStopSignal(stop)
    yield* runAgent(stop).pipe(
      Effect.provide(Agent.layer(settings, reportTo(settings.statusFile))),
      Effect.provide(withSettings(settings))
    )
  }).pipe(Effect.scoped)
).pipe(
  Command.withDescription(
    "Takes the runs of tasks that name the labels of its worker, and makes their calls from here. It opens no port: it asks the service, over HTTP(S), for work.\n\nOn SIGTERM it claims no more runs, lets its calls finish, submits their results and stops. Runs that it cannot finish go to other workers.\n\nIt ends with 2 if the token is refused, 3 if another agent runs with the same token, 4 if it is too old for the service, and 64 if a setting is wrong."
  ),
  Command.withShortDescription("Take runs and make their calls"),
  Command.withExamples([
    {
      command:
        "scheduling-agent run --url https://scheduling.example.com --token-file /etc/scheduling-agent/token --allow 10.0.0.0/8",
      description: "Call services in 10.0.0.0/8"
    },
    {
      command:
        "SCHEDULING_URL=http://127.0.0.1:4000 SCHEDULING_WORKER_TOKEN=pwk_... scheduling-agent run",
      description: "Settings from the environment"
    }
  ])
)

const check = Command.make("check", flags, (typed) =>
  Effect.gen(function* () {
    const settings = yield* readSettings(typed)
    yield* Console.log(
      `settings   ok: ${counted(settings.slots, "slot")}, ${settings.allow.length === 0 ? "public addresses only" : `${counted(settings.allow.length, "private network")} allowed`}`
    )
    yield* checkService(settings).pipe(Effect.provide(Service.layer(settings)))
  })
).pipe(
  Command.withDescription(
    "Checks the settings, that the service is there and that it takes the token. It disturbs no agent that runs with the same token."
  ),
  Command.withShortDescription("Check settings, service and token")
)

const { config, statusFile, token, tokenFile } = flags

const status = Command.make("status", { statusFile, config, token, tokenFile }, (typed) =>
  Effect.gen(function* () {
    const named = mergeSettings(yield* sourcesOf(typed))
    const file =
      named.status_file ?? (named.token === undefined ? undefined : defaultStatusFile(named.token))
    yield* showStatus(file, yield* Clock.currentTimeMillis)
  })
).pipe(
  Command.withDescription(
    "Shows what the agent on this machine is doing. It finds the agent by the status file, or by the token, as they are given to run. Without either it shows all agents that this user runs.\n\nEnds with 1 if none runs, or if one cannot reach the service."
  ),
  Command.withShortDescription("Show what the agent here is doing")
)

export const command = Command.make("scheduling-agent").pipe(
  Command.withDescription(
    "The agent of a worker of the Scheduling Service. Create a worker in a workspace, and start its agent with the token, where the service cannot reach.\n\nIn a clone of the repository, `npx node packages/agent/src/main.ts` stands for `scheduling-agent`. The package is not on npm yet: do not fetch a package of that name."
  ),
  Command.withSubcommands([run, check, status])
)
