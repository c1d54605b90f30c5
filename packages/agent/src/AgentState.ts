import { Clock, Context, Effect, Layer } from "effect"
import { ProcessWatch } from "./processes/ProcessWatch.ts"
import { makeProbes, type Probes } from "./probes/Probes.ts"
import { type Calls, makeCalls } from "./runs/Calls.ts"
import { HeldRuns } from "./runs/HeldRuns.ts"
import { makeRetries, type Retries } from "./service/Retries.ts"
import type { Settings } from "./settings.ts"
import { Signal } from "./Signal.ts"
import type { Status } from "./status/Status.ts"

/** The state that the agent's loops share. */
export class AgentState extends Context.Service<
  AgentState,
  {
    readonly settings: Settings
    readonly runs: HeldRuns
    readonly calls: Calls
    readonly probes: Probes
    readonly processes: ProcessWatch
    readonly retries: Retries
    readonly signals: Signals
    /** The worker's name. Empty until the first response of the service. */
    worker: string
    isOnline: boolean
    /**
     * True while the agent holds no run. Claims then keep the session alive, so no heartbeats are
     * needed.
     */
    isIdle: boolean
    /**
     * The hash of the list of watched processes, as the service computed it. Each claim sends it,
     * so that the service can tell whether the list has changed.
     */
    watchListHash: string
    /** Reads a monotonic clock, which is independent of changes to the system clock. */
    readonly nowMs: () => number
    readonly reportStatus: Effect.Effect<void>
  }
>()("scheduling-agent/AgentState") {
  static readonly layer = (
    settings: Settings,
    report: (status: Omit<Status, "pid" | "at">) => Effect.Effect<void>
  ) => Layer.effect(AgentState, makeAgent(settings, report))
}

interface Signals {
  readonly slotFreed: Signal
  readonly resultReady: Signal
  /** Notified when there are enough results to fill a request. */
  readonly batchReady: Signal
  readonly heartbeatDue: Signal
  readonly watchListChanged: Signal
}

const makeAgent = Effect.fnUntraced(function* (
  settings: Settings,
  report: (status: Omit<Status, "pid" | "at">) => Effect.Effect<void>
) {
  const clock = yield* Clock.Clock
  const nowMs = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
  const runs = new HeldRuns(settings.slots)
  const signals: Signals = {
    slotFreed: new Signal(),
    resultReady: new Signal(),
    batchReady: new Signal(),
    heartbeatDue: new Signal(),
    watchListChanged: new Signal()
  }
  const calls = yield* makeCalls({
    runs,
    nowMs,
    onResult: () => {
      signals.slotFreed.notify()
      signals.resultReady.notify()
      if (runs.hasFullBatch) signals.batchReady.notify()
    }
  })
  const probes = yield* makeProbes({
    slots: settings.slots,
    onResult: () => signals.heartbeatDue.notify()
  })
  const reportStatus = Effect.suspend(() =>
    report({
      worker: agent.worker,
      online: agent.isOnline,
      running: runs.running,
      unsent: runs.unsent,
      done: calls.count(),
      problem: retries.problem()
    })
  )
  const retries = makeRetries(reportStatus)
  const agent: AgentState["Service"] = {
    settings,
    runs,
    calls,
    probes,
    processes: new ProcessWatch(settings.watchCommands),
    retries,
    signals,
    worker: "",
    isOnline: false,
    isIdle: false,
    watchListHash: "",
    nowMs,
    reportStatus
  }
  return agent
})
