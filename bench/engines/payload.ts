import { dueAt } from "./engine.ts"

/** SQL for the n-th job of a peer: a call of a task. */
export const payloadOf = (body: string) => `
  json_build_object(
    'workspace_id', '0198f000-0000-7000-8000-000000000000', 'task_id', gen_random_uuid(),
    'body', '${body}', 'scheduled_for', ${dueAt}
  )`
