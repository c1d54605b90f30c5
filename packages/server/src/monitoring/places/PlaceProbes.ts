import { notSentOutcome } from "@scheduling/calls/probes/checkErrors"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  maxHeldProbes,
  type WorkerProbe,
  type WorkerProbeResult
} from "@scheduling/domain/workers/WorkerProtocol"
import { Context, Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import type { Ids } from "../../core/index.ts"
import { AccessTokens, type CallSecrets } from "../../engine/index.ts"
import { StoreClock } from "../../store/index.ts"
import { makePrepareTarget } from "../prepareTarget.ts"
import { type ReportedPlaceResult, type PlaceOfRound, PlacesRepo } from "./PlacesRepo.ts"

interface Worker {
  readonly id: string
  readonly workspace_id: AuthorizedWorkspaceId
}

/** Gives the probes of places to the agents of workers, and takes their results. */
export class PlaceProbes extends Context.Service<
  PlaceProbes,
  {
    readonly give: (worker: Worker) => Effect.Effect<ReadonlyArray<WorkerProbe>>
    readonly take: (
      worker: Worker,
      results: ReadonlyArray<WorkerProbeResult>
    ) => Effect.Effect<void>
  }
>()("@scheduling/server/monitoring/places/PlaceProbes") {
  static readonly layer: Layer.Layer<
    PlaceProbes,
    never,
    AccessTokens | CallSecrets | Ids | PlacesRepo | SqlClient.SqlClient
  > = Layer.effect(
    PlaceProbes,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const now = Effect.orDie((yield* StoreClock)(sql))
      const prepare = yield* makePrepareTarget
      const repo = yield* PlacesRepo
      const tokens = yield* AccessTokens

      /**
       * Discards the access tokens of requests that received a 401, so that later requests use new
       * ones.
       */
      const rejectTokens = Effect.fnUntraced(function* (
        worker: Worker,
        answers: ReadonlyArray<ReportedPlaceResult>
      ) {
        const unauthorized = answers.filter(({ result }) => result.status_code === 401)
        if (unauthorized.length === 0) return
        const rows = yield* repo.findOpen(worker, unauthorized)
        for (const row of rows.filter(usesAccessToken)) {
          const prepared = yield* prepare(row)
          if (Result.isSuccess(prepared) && prepared.success.token !== undefined) {
            yield* tokens.reject(worker.workspace_id, prepared.success.token)
          }
        }
      })

      return PlaceProbes.of({
        give: Effect.fn("PlaceProbes.give")(function* (worker) {
          const rows = yield* repo.take(worker, maxHeldProbes)
          const failed: Array<ReportedPlaceResult> = []
          const probes: Array<WorkerProbe> = []
          for (const row of rows) {
            const { monitor_id, place, round, timeout_seconds } = row
            const prepared = yield* prepare(row)
            if (Result.isSuccess(prepared)) {
              const { target } = prepared.success
              probes.push({ probe_id: toProbeId(row), timeout_seconds, target })
            } else {
              const { result } = notSentOutcome(prepared.failure)
              failed.push({ monitor_id, place, round, unreached: false, result })
            }
          }
          if (failed.length > 0) yield* repo.answer(worker, failed, yield* now)
          return probes
        }),

        take: Effect.fn("PlaceProbes.take")(function* (worker, results) {
          const byId = new Map(results.map((one) => [one.probe_id, one]))
          const answers = [...byId.values()].flatMap(({ probe_id, result, unreached }) => {
            const of = parseProbeId(probe_id)
            return of === undefined ? [] : [{ ...of, unreached, result: shownResult(result) }]
          })
          if (answers.length === 0) return
          yield* rejectTokens(worker, answers)
          yield* repo.answer(worker, answers, yield* now)
        })
      })
    })
  )
}

const usesAccessToken = ({ target }: { readonly target: unknown }): boolean =>
  (target as { readonly auth?: { readonly kind: string } | null }).auth?.kind ===
  "oauth2_client_credentials"

const toProbeId = ({ monitor_id, place, round }: PlaceOfRound): string =>
  `${monitor_id}.${place}.${round}`

const probeId = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\.(\d)\.(\d{1,9})$/

const parseProbeId = (id: string): PlaceOfRound | undefined => {
  const [, monitor_id, place, round] = probeId.exec(id) ?? []
  return monitor_id === undefined
    ? undefined
    : { monitor_id, place: Number(place), round: Number(round) }
}

/**
 * Replaces the setting's name in a result's message with the agent's flag, because the message
 * names the service's setting.
 */
const shownResult = (result: WorkerProbeResult["result"]): ReportedPlaceResult["result"] =>
  result.error?.code === "address_refused"
    ? {
        ...result,
        error: {
          code: "address_refused",
          message:
            "The worker may not connect to this address. Start its agent with --allow and the network of the address."
        }
      }
    : result
