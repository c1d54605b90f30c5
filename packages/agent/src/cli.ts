import { OutgoingCalls, CallConnectionLimits } from "@scheduling/calls/OutgoingCalls"
import { EgressAllow } from "@scheduling/calls/egress/Egress"
import { TargetChecks } from "@scheduling/calls/probes/TargetChecks"
import { maxAgentSlots } from "@scheduling/domain/workers/WorkerProtocol"
import { Clock, Console, DateTime, Deferred, Effect, Layer, Option, Redacted, Result } from "effect"
import { Command, Flag } from "effect/cli"
import { env } from "node:process"
import { AgentState } from "./AgentState.ts"
import { runAgent } from "./runAgent.ts"
import { AgentExitError } from "./ServiceRejection.ts"
import { pluralize } from "./pluralize.ts"
import { checkService } from "./checkService.ts"
import { readSettingsFile, readTokenFile } from "./readSettingsFile.ts"
import { ServiceClient } from "./service/ServiceClient.ts"
import {
  dropUndefined,
  type PartialSettings,
  mergeSettings,
  findMisspelledSettings,
  resolveSettings,
  type Settings,
  readEnvironment
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
      `Maximum number of concurrent calls, 1 to ${maxAgentSlots}; default 16 (SCHEDULING_SLOTS)`
    ),
    Flag.optional
  ),
  allow: Flag.String("allow").pipe(
    Flag.withDescription(
      "Private network that the agent may call, such as 10.0.0.0/8; can be repeated. Default: public addresses only (SCHEDULING_ALLOW)"
    ),
    Flag.atLeast(0)
  ),
  label: Flag.String("label").pipe(
    Flag.withDescription(
      "Claim only runs for this label of the worker; can be repeated. Default: all labels (SCHEDULING_LABELS)"
    ),
    Flag.atLeast(0)
  ),
  watchCommand: Flag.String("watch-command").pipe(
    Flag.withDescription(
      "Text that process monitors may search for in command lines, exactly as in their command_contains; can be repeated. Default: none (SCHEDULING_WATCH_COMMANDS)"
    ),
    Flag.atLeast(0)
  ),
  host: Flag.String("host").pipe(
    Flag.withDescription(
      "Name of this machine in the service; default: its hostname (SCHEDULING_HOST)"
    ),
    Flag.optional
  ),
  drainSeconds: Flag.Int("drain-seconds").pipe(
    Flag.withDescription(
      "Seconds that calls have to finish after SIGTERM; default 30 (SCHEDULING_DRAIN_SECONDS)"
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

/** Returns the sources of settings: flags, then the environment, then the file. */
const readSources = Effect.fnUntraced(function* (typed: SourceFlags, more: PartialSettings = {}) {
  const file = Option.isSome(typed.config) ? yield* readSettingsFile(typed.config.value) : {}
  const token = Option.isSome(typed.tokenFile)
    ? yield* readTokenFile(typed.tokenFile.value)
    : Option.getOrUndefined(Option.map(typed.token, Redacted.value))
  const named = dropUndefined({ token, status_file: Option.getOrUndefined(typed.statusFile) })
  return [{ ...named, ...more }, readEnvironment(env), file]
})

const readSettings = Effect.fnUntraced(function* (typed: Flags) {
  for (const warning of findMisspelledSettings(env)) yield* Effect.logWarning(warning)
  const sources = yield* readSources(
    typed,
    dropUndefined({
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
    return yield* Effect.fail(new AgentExitError(settings.failure.join("\n"), 64))
  }
  return settings.success
})

const withSettings = (settings: Settings) =>
  Layer.mergeAll(ServiceClient.layer(settings), OutgoingCalls.layer, TargetChecks.layer).pipe(
    Layer.provide(Layer.succeed(EgressAllow, settings.allow)),
    Layer.provide(
      Layer.succeed(CallConnectionLimits, { perOrigin: settings.slots, idle: settings.slots })
    )
  )

const onStopSignal = (stop: Deferred.Deferred<void>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const requestStop = () => Deferred.doneUnsafe(stop, Effect.void)
      process.on("SIGTERM", requestStop).on("SIGINT", requestStop)
      return requestStop
    }),
    (requestStop) =>
      Effect.sync(() => process.off("SIGTERM", requestStop).off("SIGINT", requestStop))
  )

const writeStatusTo = (statusFile: string) => (status: Omit<Status, "pid" | "at">) =>
  Effect.flatMap(DateTime.now, (now) =>
    writeStatus(statusFile, { ...status, pid: process.pid, at: DateTime.formatIso(now) })
  )

const run = Command.make("run", flags, (typed) =>
  Effect.gen(function* () {
    const settings = yield* readSettings(typed)
    const stop = yield* Deferred.make<void>()
    yield* onStopSignal(stop)
    yield* runAgent(stop).pipe(
      Effect.provide(AgentState.layer(settings, writeStatusTo(settings.statusFile))),
      Effect.provide(withSettings(settings))
    )
  }).pipe(Effect.scoped)
).pipe(
  Command.withDescription(
    "Makes the calls of tasks that run on the labels of this worker. The agent opens no port: it polls the service for runs over HTTP(S).\n\nOn SIGTERM the agent claims no more runs, lets its calls finish, submits their results and exits. Runs that it cannot finish go to other workers.\n\nExit codes: 2 if the token is rejected, 3 if another agent runs with the same token, 4 if the agent is too old for the service, 64 if a setting is invalid."
  ),
  Command.withShortDescription("Run the agent"),
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
      `settings   ok: ${pluralize(settings.slots, "slot")}, ${settings.allow.length === 0 ? "public addresses only" : `${pluralize(settings.allow.length, "private network")} allowed`}`
    )
    yield* checkService(settings).pipe(Effect.provide(ServiceClient.layer(settings)))
  })
).pipe(
  Command.withDescription(
    "Checks the settings, the connection to the service and the token. A running agent with the same token is not affected."
  ),
  Command.withShortDescription("Check the settings, the service and the token")
)

const { config, statusFile, token, tokenFile } = flags

const status = Command.make("status", { statusFile, config, token, tokenFile }, (typed) =>
  Effect.gen(function* () {
    const named = mergeSettings(yield* readSources(typed))
    const file =
      named.status_file ?? (named.token === undefined ? undefined : defaultStatusFile(named.token))
    yield* showStatus(file, yield* Clock.currentTimeMillis)
  })
).pipe(
  Command.withDescription(
    "Shows the status of the agent on this machine. Name the agent by the same --status-file, --config or token as in run. Without any of them, the command shows all agents of this user.\n\nExit code 1 if no agent runs, or if an agent cannot reach the service."
  ),
  Command.withShortDescription("Show the status of the agent on this machine")
)

export const command = Command.make("scheduling-agent").pipe(
  Command.withDescription(
    "The agent of a worker of the Scheduling Service. It makes calls from a network that the service cannot reach. Create a worker in a workspace, and start the agent with the token of the worker.\n\nIn a clone of the repository, `npx node packages/agent/src/main.ts` stands for `scheduling-agent`. The package is not on npm yet: do not fetch a package of that name."
  ),
  Command.withSubcommands([run, check, status])
)
