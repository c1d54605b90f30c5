import { Schema, SchemaAST, SchemaTransformation } from "effect"
import type { MonitorKindName } from "../../monitors/monitorNouns.ts"
import { docs } from "../docs.ts"
import { uuidPattern } from "../Ids.ts"
import { whenAbsent } from "./whenAbsent.ts"

/** The form of a key. Keys stand in paths, so characters with a meaning there are not allowed. */
const pattern = /^[A-Za-z0-9][A-Za-z0-9._~:@-]{0,199}$/

/** The caller-chosen key of a task, a queue, a monitor or a channel. */
export const OwnKey = Schema.String.check(
  Schema.isPattern(pattern, {
    expected: "1 to 200 letters, digits and . _ ~ : @ -, beginning with a letter or a digit",
    toJsonSchema: () => ({ minLength: 1, maxLength: 200, pattern: pattern.source })
  })
).annotate({
  description: "Your own id for it.",
  examples: ["reports:nightly"]
})

/** The kinds of records that may have a key. A key is unique among those of its kind. */
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
 * A path parameter that takes an id, or `key:` and the key of the record. A key is decoded to
 * `<kind>/key:<key>`, from which the server finds the id before a handler sees the request.
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

/** The kind and the key of a decoded `idOrKey`, or undefined if it is an id. */
export const keyOf = (
  decoded: string
): { readonly kind: KeyedKind; readonly key: string } | undefined => {
  const [, kind, key] = /^(\w+)\/key:(.+)$/.exec(decoded) ?? []
  return key === undefined ? undefined : { kind: kind as KeyedKind, key }
}

export const keyInput = {
  key: whenAbsent(
    "None",
    Schema.NullOr(OwnKey).annotate({
      description:
        "Your own id for it, by which it can be created or replaced: 1 to 200 letters, digits and " +
        "`. _ ~ : @ -`, beginning with a letter or a digit. Unique in the workspace, among those " +
        "of its kind."
    })
  )
}

export const keyFields = {
  key: Schema.NullOr(Schema.String).annotate({
    description: "Your own id for it. Null if it has none."
  })
}

/** The filters of lists by key. */
export const keyFilters = {
  key: Schema.optionalKey(OwnKey.annotate({ description: "Shows the one that has this key." })),
  key_prefix: Schema.optionalKey(
    OwnKey.annotate({
      description: "Shows records whose key begins with this text.",
      examples: ["reports:"]
    })
  )
}

/** The documentation of a PUT by key. `extra` is added for one kind of record. */
export const upsertDocs = (noun: string, extra?: string) =>
  docs(
    `Create or replace ${noun} by its key`,
    `Creates ${noun} with this key, or gives the one that has it exactly this definition. The ` +
      "answer is 201 if it is new, and 200 if it existed. If nothing differs, nothing changes." +
      (extra === undefined ? "" : ` ${extra}`)
  )
