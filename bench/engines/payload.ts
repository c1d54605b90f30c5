import { dueAt } from "./engine.ts"

/**
 * Returns SQL for the payload of the n-th job, which makes the same call as a task of this service.
 */
export const payloadOf = (body: string) => `
  json_build_object(
    'workspace_id', '0198f000-0000-7000-8000-000000000000', 'task_id', gen_random_uuid(),
    'body', '${body}', 'scheduled_for', ${dueAt}
  )`
