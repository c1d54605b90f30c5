import { InsufficientScope } from "@scheduling/domain/auth/AuthErrors"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Principal, requesterOf } from "@scheduling/domain/auth/Principal"
import type { AppliedDefinitions } from "@scheduling/domain/definitions/AppliedDefinitions"
import {
  type DefinitionsDocument,
  type DocumentSection,
  type ExportedDefinitions,
  scopeOfSection,
  sectionOfKind,
  sections
} from "@scheduling/domain/definitions/DefinitionsDocument"
import {
  Conflict,
  type NotFound,
  RateLimited,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Clock, Context, Data, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { SqlClient } from "effect/sql"
import { AuditLog, RequestRates } from "../accounts/index.ts"
import { elapsedMs, runInSlices } from "../core/index.ts"
import { DefinedKinds, allowSilence, FairQueue, yieldToEventLoop } from "../http/index.ts"
import { Limits } from "../plans/index.ts"
import { transactionOf } from "../store/index.ts"
import { lintSchedules } from "./lintSchedules.ts"
import { DefinitionsRepo, type KeyedRow } from "./DefinitionsRepo.ts"
import { makeExport } from "./ExportDefinitions.ts"
import { type DocumentItem, itemsInDocument, schedulesIn } from "./itemsInDocument.ts"
import {
  type DefinitionOutcome,
  outcomeOf,
  outcomeOfRemoval,
  toRejectedOutcome,
  outcomesResponse
} from "./outcomes.ts"
import { secretsUsedBy } from "./secretsUsedBy.ts"

interface ApplyOptions {
  readonly dry_run?: boolean
  readonly prune?: boolean
  readonly adopt?: boolean
}

type InRequest = HttpServerRequest.HttpServerRequest | Principal

/** Applies and exports documents that define many records. */
export class Definitions extends Context.Service<
  Definitions,
  {
    readonly apply: (
      workspaceId: AuthorizedWorkspaceId,
      document: DefinitionsDocument,
      options: ApplyOptions
    ) => Effect.Effect<
      AppliedDefinitions,
      InsufficientScope | NotFound | RateLimited | ValidationFailed,
      InRequest
    >
    readonly export: (
      workspaceId: AuthorizedWorkspaceId,
      owner?: string
    ) => Effect.Effect<ExportedDefinitions, ValidationFailed, InRequest>
  }
>()("@scheduling/server/definitions/Definitions") {
  static readonly layer: Layer.Layer<
    Definitions,
    never,
    AuditLog | DefinedKinds | DefinitionsRepo | Limits | RequestRates | SqlClient.SqlClient
  > = Layer.effect(
    Definitions,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const audit = yield* AuditLog
      const kinds = yield* DefinedKinds
      const limits = yield* Limits
      const rates = yield* RequestRates
      const repo = yield* DefinitionsRepo
      // Applies one document at a time, because each takes a transaction of several seconds, and
      // the embedded store has only one connection. Waiting documents are kept in memory, at up to
      // 10 MB each.
      const turns = new FairQueue<AuthorizedWorkspaceId, RateLimited>({
        atOnce: 1,
        pause: yieldToEventLoop,
        bound: { maxWaiting, refusal: Effect.fail(new RateLimited({ retry_after: busySeconds })) }
      })

      const charge = Effect.fnUntraced(function* (records: number) {
        const message = NodeHttpServerRequest.toIncomingMessage(
          yield* HttpServerRequest.HttpServerRequest
        )
        // The authentication has already counted this request once.
        const more = Math.ceil(records / recordsPerRequest) - 1
        const limited =
          more < 1 ? undefined : rates.take(message, requesterOf(yield* Principal), more)
        if (limited !== undefined) return yield* limited
      })

      /**
       * Prepares the definitions, for example by reading their calendars, before the document
       * enters the queue and its transaction begins. Calendar servers can be slow, and other
       * documents must not wait for them.
       */
      const prepare = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        items: ReadonlyArray<DocumentItem>
      ) {
        const clock = yield* Clock.Clock
        const endsAt = elapsedMs(clock) + preparedWithinMs
        const rejected: Array<DefinitionOutcome> = []
        for (const { definition, kind, path } of items) {
          const ready = kinds.get(kind).prepare?.(workspaceId, definition as never)
          if (ready === undefined) continue
          const outcome = yield* ready.pipe(
            Effect.timeoutOrElse({
              duration: Math.max(leastPreparationMs, endsAt - elapsedMs(clock)),
              orElse: () => Effect.fail(notPrepared)
            }),
            Effect.as(nothing),
            Effect.catch(toRejectedOutcome(path))
          )
          if (outcome !== nothing) rejected.push(outcome)
        }
        return rejected
      })

      const upsert = (
        workspaceId: AuthorizedWorkspaceId,
        item: DocumentItem,
        known: KeyedRow | undefined,
        { adopts, owner }: { readonly adopts: boolean; readonly owner: string | null }
      ) => {
        const other = known?.owner ?? null
        const isForeign = owner !== null && other !== null && other !== owner
        return isForeign && !adopts
          ? toRejectedOutcome(item.path)(ownedBy(other))
          : kinds
              .get(item.kind)
              .upsert(workspaceId, item.key ?? "", item.definition as never)
              .pipe(
                Effect.map((upserted) => outcomeOf(item, upserted, { owner, other })),
                Effect.catch(toRejectedOutcome(item.path))
              )
      }

      const remove = (workspaceId: AuthorizedWorkspaceId, row: KeyedRow) =>
        kinds
          .get(row.kind)
          .remove(workspaceId, row)
          .pipe(
            Effect.as(outcomeOfRemoval(row)),
            Effect.catch(toRejectedOutcome([sectionOfKind[row.kind], row.key]))
          )

      /**
       * Lists the owner's records that the document does not define, in the order in which they can
       * be removed: each record comes before the records that it uses.
       */
      const listRecordsToPrune = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        items: ReadonlyArray<DocumentItem>,
        owner: string
      ) {
        const defined = new Set(items.map(nameOf))
        const owned = yield* repo.listByOwner(workspaceId, owner, maxPruned)
        return owned
          .filter((row) => !defined.has(nameOf(row)))
          .toSorted((a, b) => orderOf(b) - orderOf(a))
      })

      const applyAll = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        items: ReadonlyArray<DocumentItem>,
        owner: string | null,
        { adopt = false, prune = false }: ApplyOptions
      ) {
        // This lock makes all nodes apply only one document of a workspace at a time. Creating a
        // record takes it too.
        yield* limits.hold(workspaceId)
        const keys = items.flatMap(({ key }) => key ?? [])
        const rows = yield* repo.listByKeys(workspaceId, keys)
        const known = new Map(rows.map((row) => [nameOf(row), row]))
        const stale =
          prune && owner !== null ? yield* listRecordsToPrune(workspaceId, items, owner) : []
        yield* requireScopes(stale.map(({ kind }) => sectionOfKind[kind]))
        const applyOne = (item: DocumentItem) =>
          upsert(workspaceId, item, known.get(nameOf(item)), { owner, adopts: adopt })
        const records = items.filter(({ key }) => key !== null)
        const settings = items.filter(({ key }) => key === null)
        // The settings contain the notification rules and are applied last. Rules can name records
        // that the document creates, and must no longer name records that it removes.
        const outcomes = [
          ...(yield* Effect.forEach(records, applyOne)),
          ...(yield* Effect.forEach(stale, (row) => remove(workspaceId, row))),
          ...(yield* Effect.forEach(settings, applyOne))
        ]
        const labelled = outcomes.flatMap((outcome) => outcome.labelled ?? [])
        if (owner !== null) yield* repo.updateOwner(workspaceId, labelled, owner)
        return outcomes
      })

      const findingsOf = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        items: ReadonlyArray<DocumentItem>
      ) {
        const uses = items.flatMap(({ definition, path }) =>
          [...secretsUsedBy(definition)].map((name) => ({ name, path }))
        )
        const names = new Set(uses.map(({ name }) => name))
        const known = yield* repo.findSecretNames(workspaceId, [...names])
        const missing = uses.filter(({ name }) => !known.has(name)).map(missingSecret)
        const now = yield* Clock.currentTimeMillis
        return [...missing, ...(yield* runInSlices(lintSchedules(schedulesIn(items), now)))]
      })

      const applyItems = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        items: ReadonlyArray<DocumentItem>,
        unprepared: ReadonlyArray<DefinitionOutcome>,
        owner: string | null,
        options: ApplyOptions
      ) {
        const { dry_run = false } = options
        const outcomes = yield* applyAll(workspaceId, items, owner, options).pipe(
          Effect.map((applied) => [...unprepared, ...applied]),
          Effect.flatMap((all) => decide(all, dry_run)),
          audit.collectEvents,
          transaction,
          Effect.catchTag("Planned", (plan) => Effect.succeed(plan.outcomes))
        )
        return outcomesResponse(dry_run, outcomes, yield* findingsOf(workspaceId, items))
      })

      const apply = Effect.fn("Definitions.apply")(function* (
        workspaceId: AuthorizedWorkspaceId,
        document: DefinitionsDocument,
        options: ApplyOptions
      ) {
        const { prune = false } = options
        const owner = document.owner ?? null
        if (prune && owner === null) return yield* pruneNeedsOwner
        const items = itemsInDocument(document)
        yield* requireScopes(items.map(({ section }) => section))
        yield* charge(items.length)
        const unprepared = yield* prepare(workspaceId, items)
        const work = applyItems(workspaceId, items, unprepared, owner, options)
        return yield* turns.run(workspaceId, work)
      })

      return Definitions.of({
        apply: (workspaceId, document, options) =>
          allowLongSilence(apply(workspaceId, document, options)),

        export: yield* makeExport
      })
    })
  )
}

const recordsPerRequest = 10
const maxIssues = 100
const maxPruned = 10_000
const maxWaiting = 10
const busySeconds = 5

const preparedWithinMs = 15_000
const leastPreparationMs = 250

const nothing: DefinitionOutcome = {}

const notPrepared = ValidationFailed.at(
  ["excluded_calendar"],
  "invalid",
  "could not be read in time with the other calendars; save the task in a separate request first"
)

/**
 * The request's time limit. It is longer than usual, because the request waits for other documents
 * and applies up to a thousand records.
 */
const silenceMs = 45_000

const allowLongSilence = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const incoming = NodeHttpServerRequest.toIncomingMessage(request)
    allowSilence(incoming, silenceMs)
    return Effect.ensuring(
      work,
      Effect.sync(() => allowSilence(incoming, 0))
    )
  })

class Planned extends Data.TaggedError("Planned")<{
  readonly outcomes: ReadonlyArray<DefinitionOutcome>
}> {}

/**
 * Decides whether the transaction is committed. Fails if a record is rejected. A plan only previews
 * the changes, so it always fails and its transaction is rolled back.
 */
const decide = (
  outcomes: ReadonlyArray<DefinitionOutcome>,
  isPlan: boolean
): Effect.Effect<ReadonlyArray<DefinitionOutcome>, Planned | ValidationFailed> => {
  if (isPlan) return Effect.fail(new Planned({ outcomes }))
  const issues = outcomes.flatMap((outcome) => outcome.issues ?? [])
  return issues.length > 0
    ? Effect.fail(new ValidationFailed({ issues: issues.slice(0, maxIssues) }))
    : Effect.succeed(outcomes)
}

/**
 * Fails if an API key lacks the scope of a section. Users need no such check, because their role
 * applies to all sections alike.
 */
const requireScopes = Effect.fnUntraced(function* (used: ReadonlyArray<DocumentSection>) {
  const principal = yield* Principal
  if (principal.kind === "jwt") return
  for (const section of used) {
    const required_scope = scopeOfSection(section, "write")
    if (!principal.scopes.includes(required_scope)) {
      return yield* new InsufficientScope({ required_scope })
    }
  }
})

const nameOf = ({ key, kind }: { readonly kind: string; readonly key: string | null }) =>
  `${kind} ${key ?? ""}`

const orderOf = ({ kind }: KeyedRow): number => sections.indexOf(sectionOfKind[kind])

const ownedBy = (owner: string) =>
  new Conflict({
    resource: "workspace",
    field: "key",
    message: `The record with this key belongs to the owner "${owner}". Remove it from one of the documents, or apply this document with adopt=true.`
  })

const missingSecret = ({
  name,
  path
}: {
  readonly name: string
  readonly path: ReadonlyArray<string | number>
}) => ({
  code: "missing_secret" as const,
  path,
  message: `The workspace has no secret named ${name}. Calls that use it fail until you create it.`
})

const pruneNeedsOwner = Effect.suspend(() =>
  Effect.fail(
    ValidationFailed.at(
      ["owner"],
      "required",
      "is required with prune, which deletes the owner's records that the document does not define"
    )
  )
)
