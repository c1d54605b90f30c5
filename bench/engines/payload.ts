import { dueAt } from "./engine.ts"

/** Returns SQL for the payload of a peer's n-th job, which calls a task's target. */
export const payloadOf = (body: string) => `
  json_build_object(
    'workspace_id', '0198f000-0000-7000-8000-000000000000', 'task_id', gen_random_uuid(),
    'body', '${body}', 'scheduled_for', ${dueAt}
  )`
