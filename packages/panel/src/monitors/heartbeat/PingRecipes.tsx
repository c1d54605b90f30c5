import { Snippets } from "../../ui/values/Code.tsx"

export const PingRecipes = ({ url }: { readonly url: string }) => (
  <Snippets
    label="Ping"
    snippets={[
      ["curl", `curl -fsS -m 10 --retry 5 -o /dev/null ${url}`],
      [
        "crontab",
        `PING_URL=${url}
0 3 * * *  /usr/local/bin/backup; curl -fsS -m 10 --retry 5 -o /dev/null $PING_URL/$?`
      ],
      [
        "systemd",
        `[Service]
Type=oneshot
Environment=PING_URL=${url}
ExecStartPre=-/usr/bin/curl -fsS -m 10 --retry 5 -o /dev/null \${PING_URL}/start
ExecStart=/usr/local/bin/backup
ExecStopPost=/usr/bin/sh -c 'curl -fsS -m 10 --retry 5 -o /dev/null "$PING_URL/$([ "$SERVICE_RESULT" = success ] && echo 0 || echo fail)"'`
      ],
      [
        "GitHub Actions",
        `# Keep the URL as the secret PING_URL:
# ${url}
- name: Ping the monitor
  if: always()
  run: curl -fsS -m 10 --retry 5 -o /dev/null "$PING_URL/\${{ job.status == 'success' && '0' || 'fail' }}"
  env:
    PING_URL: \${{ secrets.PING_URL }}`
      ],
      [
        "Other pings",
        `${url}/start   a run starts
${url}         the run succeeded
${url}/fail    the run failed
${url}/0       the run finished with this exit status, up to /255
${url}/log     a log entry, which does not change the status`
      ]
    ]}
  />
)
