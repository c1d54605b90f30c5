import { Schema, SchemaAST, SchemaTransformation } from "effect"
import type { MonitorKindName } from "../../monitors/monitorNouns.ts"
import { docs } from "../docs.ts"
import { uuidPattern } from "../Ids.ts"
import { optionalWithDefault } from "./optionalWithDefault.ts"

/** Keys appear in paths, so characters with a special meaning there are not allowed. */
const pattern = /^[A-Za-z0-9][A-Za-z0-9._~:@-]{0,199}$/

/** A record's key, which the caller chooses. */
export const CallerChosenKey = Schema.String.check(
  Schema.isPattern(pattern, {
    expected: "1 to 200 letters, digits and . _ ~ : @ -, beginning with a letter or a digit",
    toJsonSchema: () => ({ minLength: 1, maxLength: 200, pattern: pattern.source })
  })
).annotate({
  description: "An id that you choose.",
  examples: ["reports:nightly"]
})

/** The keys of records whose ids the response contains too. */
export const keysOfRecords = (what: string) =>
  Schema.Array(Schema.String).annotate({
    description: `The keys of the ${what}. Records without a key are omitted.`
  })

/** A list of keys that a request can give instead of the ids in the field `ids`. */
export const referencedKeys = (what: string, ids: string, max: number) =>
  optionalWithDefault(
    "None",
    Schema.Array(CallerChosenKey)
      .check(Schema.isMaxLength(max), Schema.isUnique())
      .annotate({
        description: `The keys of the ${what}, instead of \`${ids}\`. If both are given, each key must belong to a record named by an id.`
      })
  )

/** The kinds of records that can have a key. Keys are unique per kind. */
export type KeyedKind =
  | "cron"
  | "delayed"
  | "chain"
  | "queue"
  | MonitorKindName
  | "notification_channel"

const withoutAnchors = ({ source }: RegExp) => source.slice(1, -1)

const idOrKeyPattern = new RegExp(
  `^(?:${withoutAnchors(uuidPattern)}|key:${withoutAnchors(pattern)})$`
)

/**
 * A path parameter that accepts an id, or `key:` followed by the record's key. A key is decoded to
 * `<kind>/key:<key>`, which the server resolves to the id before the handler runs.
 */
export const idOrKey = <S extends Schema.Codec<string, string> & { readonly identifier: string }>(
  id: S,
  kind: KeyedKind
): Schema.Codec<S["Type"], string> =>
  Schema.String.check(
    Schema.isPattern(idOrKeyPattern, {
      expected: "a UUID, or key: and a key",
      toJsonSchema: () => ({ pattern: idOrKeyPattern.source })
    })
  )
    .annotate({
      description:
        `${SchemaAST.resolveDescription(id.ast)?.replace(/\.$/, "")}, or \`key:\` and its key, such ` +
        "as `key:reports:nightly`.",
      examples: ["019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"]
    })
    .pipe(
      Schema.decodeTo(
        Schema.String.pipe(Schema.brand(id.identifier as never)),
        SchemaTransformation.transform({
          decode: (text) => (text.startsWith(keyPrefix) ? `${kind}/${text}` : text.toLowerCase()),
          encode: (text) => text.replace(/^\w+\/(?=key:)/, "")
        })
      )
    )

const keyPrefix = "key:"

/** Returns the kind and the key of a decoded `idOrKey`, or undefined if it is an id. */
export const parseRecordKey = (
  decoded: string
): { readonly kind: KeyedKind; readonly key: string } | undefined => {
  const [, kind, key] = /^(\w+)\/key:(.+)$/.exec(decoded) ?? []
  return key === undefined ? undefined : { kind: kind as KeyedKind, key }
}

export const keyInput = {
  key: optionalWithDefault(
    "None",
    Schema.NullOr(CallerChosenKey).annotate({
      description:
        "An id that you choose, for creating or replacing the record: 1 to 200 letters, digits and " +
        "`. _ ~ : @ -`, beginning with a letter or a digit. Unique in the workspace per " +
        "kind of record."
    })
  )
}

export const keyFields = {
  key: Schema.NullOr(Schema.String).annotate({
    description: "The id that you chose. Null if there is none."
  })
}

/** The key filters of list endpoints. */
export const keyFilters = {
  key: Schema.optionalKey(
    CallerChosenKey.annotate({ description: "Returns the record with this key." })
  ),
  key_prefix: Schema.optionalKey(
    CallerChosenKey.annotate({
      description: "Returns records whose key starts with this text.",
      examples: ["reports:"]
    })
  )
}

/**
 * Returns the documentation of an endpoint that creates or replaces a record by its key. `extra` is
 * specific to a kind of record.
 */
export const upsertDocs = (noun: string, extra?: string) =>
  docs(
    `Create or replace ${noun} by its key`,
    `Creates ${noun} with this key, or replaces the definition of the existing one. The ` +
      "response is 201 if it was created and 200 if it existed. An identical definition changes nothing." +
      (extra === undefined ? "" : ` ${extra}`)
  )
