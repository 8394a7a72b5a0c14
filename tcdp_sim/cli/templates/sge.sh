{% extends "job.sh" %}
{% set prefix, index = "#$", "$SGE_TASK_ID" %}
{% macro directives(need) %}
#$ -N tcdp-sim
#$ -S /bin/sh
#$ -cwd
#$ -j y
#$ -l h_rt={{ need.clock }}
#$ -l h_vmem={{ need.megabytes }}M
{%- endmacro %}
{% block submit %}
after=
for range in $(echo "$parts" | tr , ' '); do # an array of Grid Engine is one range
    id=$(qsub -terse -t "$range" -o "$jobs/" "$jobs/part.sh")
    after=$after${after:+,}${id%%.*}
done
qsub -hold_jid "$after" -o "$jobs/" "$jobs/finish.sh"
{% endblock %}
