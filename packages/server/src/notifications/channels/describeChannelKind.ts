import type {
  NotificationKind,
  NotificationKindInfo
} from "@scheduling/domain/notifications/NotificationChannel"
import { Schema } from "effect"
import type { ChannelKind } from "../kinds/ChannelKind.ts"

/** Describes a kind so that a client can generate a form for it. */
export const describeChannelKind = (
  kind: NotificationKind,
  { config, secrets, title }: ChannelKind,
  unavailable: string | null
): NotificationKindInfo => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(config, {
    onExcessProperty: "error"
  })
  const properties: Readonly<Record<string, object>> = Object(schema["properties"])
  return {
    kind,
    title,
    available: unavailable === null,
    unavailable_reason: unavailable,
    config_schema: {
      ...schema,
      properties: Object.fromEntries(
        Object.entries(properties).map(([field, property]) => [
          field,
          secrets.includes(field) ? { ...property, writeOnly: true } : property
        ])
      ),
      ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions })
    },
    secret_fields: secrets
  }
}
