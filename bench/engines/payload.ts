import { dueAt } from "./engine.ts"

/** The n-th job of a peer, as SQL: a call for a task of the only workspace. */
export const payloadOf = (body: string) => `
  json_build_object(
    'workspace_id', '0198f000-0000-7000-8000-000000000000', 'task_id', gen_random_uuid(),
    'body', '${body}', 'scheduled_for', ${dueAt}
  )`
