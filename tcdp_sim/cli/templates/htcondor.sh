{% extends "job.sh" %}
{% set prefix, index = "request_", "$1" %}
{% macro directives(need) %}
# {{ need.clock }} and {{ need.megabytes }} MB are asked for in the submit file
{%- endmacro %}
{% macro submit_file(name, arguments, need) %}
cat > "$jobs/{{ name }}.sub" <<'SUBMIT'
universe = vanilla
executable = {{ name }}.sh
{% if arguments %}
arguments = {{ arguments }}
{% endif %}
request_cpus = 1
request_memory = {{ need.megabytes }}MB
periodic_remove = (JobStatus == 2) && (time() - EnteredCurrentStatus > {{ need.seconds }})
should_transfer_files = NO
log = jobs.log
output = {{ name }}{{ "-" if arguments }}{{ arguments }}.log
error = {{ name }}{{ "-" if arguments }}{{ arguments }}.log
queue
SUBMIT
{% endmacro %}
{% block submit %}
chmod +x "$jobs/part.sh" "$jobs/finish.sh"
{{ submit_file("part", "$(part)", part) }}
{{ submit_file("finish", "", finish) }}
# One node for each part: DAGMan would remove all jobs of a node if one of them failed. A final node always runs.
for range in $(echo "$parts" | tr , ' '); do
    for i in $(seq "${range%-*}" "${range#*-}"); do
        printf 'JOB part%s part.sub\nVARS part%s part="%s"\n' "$i" "$i" "$i"
    done
done > "$jobs/run.dag"
echo 'FINAL finish finish.sub' >> "$jobs/run.dag"
cd "$jobs"
condor_submit_dag run.dag
{% endblock %}
