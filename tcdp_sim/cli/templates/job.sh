#!/bin/sh
# {{ parts }} parts of the run {{ title }}, and a job that finishes it. No part needs a network or another part.
#   sh job.sh            submits all parts
#   sh job.sh 17,40-45   submits some of them again; `tcdp-sim finish` says which ones are missing
# {{ forecast }}
# The jobs ask for {{ margin }} times as much, and {{ slow_start }} min for a slow start.
# Add what your site needs to the lines that begin with {{ prefix }}: a queue, an account.
set -eu
parts=${1:-{{ "1-%d"|format(parts) if parts > 1 else 1 }}}
cd {{ folder }}
jobs=tcdp-sim-jobs/$(date -u +%Y%m%dT%H%M%SZ)-$$
mkdir -p "$jobs"

cat > "$jobs/part.sh" <<'JOB'
#!/bin/sh
{{ directives(part) }}
cd {{ folder }} || exit 1
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
exec {{ run }} "part={{ index }}/{{ parts }}"
JOB

cat > "$jobs/finish.sh" <<'JOB'
#!/bin/sh
{{ directives(finish) }}
cd {{ folder }} || exit 1
exec {{ finish_run }}
JOB

{% block submit %}{% endblock %}
