import type { RequestOrigin } from "../http/index.ts"

/** The origin of changes that an operator makes with a command or a setting. */
export const operatorOrigin: RequestOrigin = {
  ip: null,
  user_agent: null,
  request_id: "operator"
}
