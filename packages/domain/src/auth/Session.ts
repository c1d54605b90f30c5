import { Schema } from "effect"
import { SessionId } from "../shared/Ids.ts"
import { Timestamp } from "../shared/Timestamp.ts"

/** One login: the device it came from, and whether it is the session of this request. */
export const Session = Schema.Struct({
  id: SessionId,
  user_agent: Schema.NullOr(Schema.String),
  ip: Schema.NullOr(Schema.String),
  created_at: Timestamp,
  last_used_at: Timestamp,
  current: Schema.Boolean
}).annotate({ identifier: "Session" })
export type Session = typeof Session.Type
