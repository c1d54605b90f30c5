import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Principal } from "@scheduling/domain/auth/Principal"
import {
  type DocumentSection,
  type ExportedDefinitions,
  maxDefinitions,
  scopeOfSection,
  sectionOfKind
} from "@scheduling/domain/definitions/DefinitionsDocument"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { Effect, Option } from "effect"
import { DefinedKinds } from "../http/index.ts"
import { type DefinitionFields, shortDefinitionOf } from "./definitionOf.ts"
import { DefinitionsRepo, type KeyedRow } from "./DefinitionsRepo.ts"

/**
 * The maximum size of an exported document. A larger document would not fit into a request that
 * applies it.
 */
const maxBytes = 1_000_000

const countedTo = 10_000

/**
 * Creates the function that exports all records with keys, or those of one owner, as a document.
 */
export const makeExport = Effect.gen(function* () {
  const kinds = yield* DefinedKinds
  const repo = yield* DefinitionsRepo

  /** Returns none if the record was deleted in the meantime. */
  const itemOf = (workspaceId: AuthorizedWorkspaceId, row: KeyedRow) =>
    kinds
      .get(row.kind)
      .get(workspaceId, row)
      .pipe(
        Effect.map((shown): DefinitionFields => {
          const { key, kind } = row
          const ofKind = sectionOfKind[kind] === "monitors" && { kind }
          return { ...ofKind, key, ...shortDefinitionOf(kind, shown) }
        }),
        Effect.option
      )

  /**
   * Returns the notification settings, which have no owner. Settings that nobody has changed are
   * omitted.
   */
  const settingsOf = (workspaceId: AuthorizedWorkspaceId) =>
    kinds
      .get("notification_settings")
      .get(workspaceId, { id: "", key: "" })
      .pipe(
        Effect.map((shown) =>
          "version" in shown && shown.version === 0
            ? {}
            : { notification_settings: shortDefinitionOf("notification_settings", shown) }
        ),
        Effect.orDie
      )

  return Effect.fn("Definitions.export")(function* (
    workspaceId: AuthorizedWorkspaceId,
    owner?: string
  ) {
    const principal = yield* Principal
    const mayRead = (section: DocumentSection) =>
      principal.kind === "jwt" || principal.scopes.includes(scopeOfSection(section, "read"))
    const limit = maxDefinitions + 1
    const rows = yield* owner === undefined
      ? repo.list(workspaceId, limit)
      : repo.listByOwner(workspaceId, owner, limit)
    if (rows.length === limit) return yield* tooLarge("has more than 1,000 records")
    const content: Record<string, Array<DefinitionFields>> = {}
    let bytes = 0
    for (const row of rows.toSorted(byKey)) {
      const section = sectionOfKind[row.kind]
      if (!mayRead(section)) continue
      const item = yield* itemOf(workspaceId, row)
      if (Option.isNone(item)) continue
      bytes += JSON.stringify(item.value).length
      if (bytes > maxBytes) return yield* tooLarge("is larger than 1 MiB")
      const items = (content[section] ??= [])
      items.push(item.value)
    }
    const hasSettings = owner === undefined && mayRead("notification_settings")
    return {
      version: 1,
      owner: owner ?? null,
      ...content,
      ...(hasSettings && (yield* settingsOf(workspaceId))),
      without_key: yield* repo.countWithoutKey(workspaceId, countedTo)
    } as ExportedDefinitions
  })
})

const byKey = (a: KeyedRow, b: KeyedRow) => (a.key < b.key ? -1 : 1)

const tooLarge = (what: string) =>
  Effect.fail(
    ValidationFailed.at(
      ["owner"],
      "too_many",
      `must name one owner with fewer records, because the document ${what}`
    )
  )
